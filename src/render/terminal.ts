// Control sequences of a terminal (ECMA-48, and xterm's for the cursor).
export const eraseBelow = '\r\u001B[J';
/** Shows the cursor and erases what is below it, in case the process ends before its spinner was stopped. */
export const leaveTerminal = `${eraseBelow}\u001B[?25h`;
