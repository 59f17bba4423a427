// What a user of the command line waits for: from the start of `checkpoint serve` to its first answer.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

/** What one process took, in milliseconds since it was started. */
export interface FirstAnswer {
  /** Until it said where it is. */
  readonly loadedMs: number;
  readonly answeredMs: number;
  /** Of all its threads until the answer, in steps of ten; NaN where the system does not tell. */
  readonly processorMs: number;
}

/** Starts a server with an interpreter's arguments and asks it once. */
export async function firstAnswer(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  token: string,
): Promise<FirstAnswer> {
  const began = performance.now();
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'ignore'] });
  const ended = once(child, 'exit');
  try {
    const lines = createInterface({ input: child.stdout });
    let url: string | undefined;
    for await (const line of lines) {
      url = /^MCP\s+(\S+)$/.exec(line)?.[1];
      if (url !== undefined) break;
    }
    if (url === undefined) throw new Error('the server ended without saying where it is');
    child.stdout.resume();
    const loadedMs = performance.now() - began;
    const params = { name: 'list_my_workflows', arguments: {} };
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    });
    const text = await response.text();
    const answeredMs = performance.now() - began;
    if (response.status !== 200) throw new Error(`answered ${response.status}: ${text}`);
    return { loadedMs, answeredMs, processorMs: processorMsOf(child.pid ?? 0) };
  } finally {
    child.kill('SIGTERM');
    await ended;
  }
}

/** Source: proc(5), fields 14 and 15 of `stat`, in ticks of ten milliseconds. */
function processorMsOf(pid: number): number {
  try {
    const [, rest = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
    const fields = rest.split(' ');
    return 10 * (Number(fields[11]) + Number(fields[12]));
  } catch {
    return Number.NaN;
  }
}
