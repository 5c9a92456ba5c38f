import fc from 'fast-check';

/**
 * Any character of Unicode but a half of a surrogate pair, each length of UTF-8 as often as another. In the place of
 * fast-check's own `binary`, which costs a second of CPU time when it is first used.
 */
export const anyCharacter = fc
  .oneof(
    fc.integer({ min: 0, max: 0x7f }),
    fc.integer({ min: 0x80, max: 0x7ff }),
    fc.integer({ min: 0x800, max: 0xffff }).filter((code) => code < 0xd800 || code > 0xdfff),
    fc.integer({ min: 0x1_0000, max: 0x10_ffff }),
  )
  .map((code) => String.fromCodePoint(code));
