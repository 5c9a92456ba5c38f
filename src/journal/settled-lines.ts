// A whole line that the journal wrote of a trigger. What is torn, foreign or holds an escaped key does not match.
const form =
  /^\{"schema":1,"at":"[^"]+","type":"(intent|doubtful|accepted|forgotten)",("baseUrl":"[^"\\]*","account":"[^"\\]*","idempotencyKey":"[^"\\]*"),.*("target":"(?:[^"\\]|\\.)*")(?:,"place":"\w+")?\}$/;

/**
 * Tells lines, the newest first, that may say something of an open trigger from those of settled ones, by their text:
 * of a journal of 100,000 records, next to none is left to parse.
 */
export function createSettledLines(): (line: string) => boolean {
  const settled = new Set<string>();
  const passed = new Set<string>();
  return (line) => {
    const found = form.exec(line);
    if (!found) return true;
    const [, type, request, target] = found;
    const id = `${request}${target}`;
    if (type === 'intent' || type === 'doubtful') {
      if (settled.has(id)) return false;
      passed.add(id);
      return true;
    }
    settled.add(id);
    // It may be accepted for good under a newer intent.
    return passed.has(id);
  };
}
