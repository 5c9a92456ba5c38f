// Control sequences of a terminal (ECMA-48, and xterm's for the cursor).
export const eraseBelow = '\r\u001B[J';
/** Shows the cursor and erases what is below it: for a process that ends without having stopped its spinner, too. */
export const leaveTerminal = `${eraseBelow}\u001B[?25h`;
