import { createServer } from 'node:http';

/** Passes requests on to the service, and keeps each with its answer. */
export async function startRecorder(baseUrl) {
  const target = baseUrl.replace(/\/+(v0\/*)?$/, '');
  const records = [];
  let step = '';
  const server = createServer(async (incoming, outgoing) => {
    const chunks = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const { method, url, headers } = incoming;
    const { host: _, connection: __, 'content-length': ___, 'accept-encoding': ____, ...passed } = headers;
    const record = {
      step,
      method,
      path: url,
      secrets: [headers['idempotency-key'], headers['x-api-key']],
      atMs: Date.now(),
    };
    records.push(record);
    try {
      const body = method === 'POST' ? Buffer.concat(chunks) : undefined;
      const response = await fetch(target + url, { method, headers: passed, body, redirect: 'manual' });
      const text = await response.text();
      Object.assign(record, { status: response.status, text, date: response.headers.get('date') ?? undefined });
      record.json = parse(text);
      if (method === 'POST' && response.ok) record.started = record.json?.executionId;
      const dropped = ['content-encoding', 'transfer-encoding', 'content-length', 'connection', 'keep-alive'];
      outgoing.writeHead(
        response.status,
        Object.fromEntries([...response.headers].filter(([name]) => !dropped.includes(name))),
      );
      outgoing.end(text);
    } catch {
      outgoing.destroy(); // no answer stays no answer
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    records,
    begin(name) {
      step = name;
    },
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The object of a JSON text; undefined for anything else. */
function parse(text) {
  try {
    const value = JSON.parse(text);
    return value && typeof value === 'object' ? value : undefined;
  } catch {
    return undefined;
  }
}
