/** Names that every object answers to, so that a careless look-up finds something under them. */
export const objectNames = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'prototype'];
