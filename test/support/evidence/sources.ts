/** Evidence sources to peers, closed after each test. */
import { join } from 'node:path';
import { afterEach } from '@jest/globals';
import type { ToolServer } from '../../../lib/adapters/evidence/servers.ts';
import { createEvidenceSource } from '../../../lib/adapters/evidence/source.ts';
import type { EvidenceWarning } from '../../../lib/adapters/evidence/warnings.ts';
import { systemClock } from '../../../lib/adapters/runtime/system.ts';
import { EvidenceError, type EvidenceSource } from '../../../lib/core/ports/evidence.ts';

/** The tool that every peer offers. */
export const STATUS = {
  server: 'peer',
  name: 'status',
  description: 'The status.',
  inputSchema: { type: 'object', properties: { service: { type: 'string' } } },
};

const open: EvidenceSource[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((source) => source.close()));
});

/** A source to servers, with its warnings. */
export function sourceTo(servers: readonly ToolServer[]) {
  const warnings: EvidenceWarning[] = [];
  const source = createEvidenceSource(servers, {
    clock: systemClock,
    version: '0.0.0',
    environment: { PATH: process.env['PATH'] ?? '', HOME: '/nowhere' },
    onWarning: (warning) => warnings.push(warning),
  });
  open.push(source);
  return { source, warnings };
}

/** A source to a peer that misbehaves in one way, and so much. */
export function sourceToPeer(mode: string, env: Readonly<Record<string, string>> = {}, amount = 0) {
  const args = [join(import.meta.dirname, 'peer.ts'), mode, String(amount)];
  return sourceTo([{ name: 'peer', command: process.execPath, args, env }]);
}

/** A moment so many milliseconds from now. */
export const soon = (ms = 10_000): number => Date.now() + ms;

/** The code and the message of the evidence error that something ends with. */
export async function failureOf(work: Promise<unknown>): Promise<readonly [string, string]> {
  try {
    await work;
  } catch (error) {
    if (error instanceof EvidenceError) return [error.code, error.message];
    throw error;
  }
  throw new Error('expected an evidence error');
}
