// Limits of what tool servers may say, and of what people are shown of it.
import { systemClock } from '../../lib/adapters/runtime/system.ts';
import { display, displayFields } from '../../lib/core/display.ts';
import { definitionHash } from '../../lib/core/evidence/definition.ts';
import { createGathering } from '../../lib/core/evidence/gather.ts';
import { isEvidenceError, type EvidenceSource } from '../../lib/core/ports/evidence.ts';
import { bundledOn, folderOf } from '../support/evidence/bundled.ts';
import { soon, sourceToPeer, STATUS } from '../support/evidence/sources.ts';
import type { Case } from './case.ts';

async function errorOf(work: Promise<unknown>) {
  try {
    await work;
    return undefined;
  } catch (error) {
    if (isEvidenceError(error)) return error;
    throw error;
  }
}

/** Whether a peer that does so many of something is understood. */
const taken =
  (mode: string, work: (source: EvidenceSource) => Promise<unknown>) => async (amount: number) =>
    (await errorOf(work(sourceToPeer(mode, {}, amount).source))) === undefined;

const call = (source: EvidenceSource) => source.call(STATUS, {}, soon(30_000));
const list = (source: EvidenceSource) => source.list('peer', soon(30_000));

const SERVICES = (count: number): string =>
  JSON.stringify({
    services: Array.from({ length: count }, (_, n) => ({ name: `s${n}`, status: 'down' })),
  });

/** Whether the bundled server answers a call over these files. */
async function served(
  files: Readonly<Record<string, string>>,
  tool: string,
  args: Readonly<Record<string, string>>,
): Promise<boolean> {
  return !(await bundledOn(await folderOf(files)).call(tool, args)).isError;
}

/** The cases. */
export const EVIDENCE = {
  displayedChars: (chars) => display('x'.repeat(chars)).hidden === 0,
  displayedFields: (count) =>
    displayFields(Array.from({ length: count }, (_, n) => n)).every(({ hidden }) => hidden === 0),
  evidenceMessageBytes: taken('message-bytes', call),
  evidenceChatterBytes: taken('chatter-bytes', call),
  evidenceChatterLines: taken('chatter-lines', call),
  evidenceServices: (count) => served({ 'services.json': SERVICES(count) }, 'service_status', {}),
  evidenceRunbooks: (count) => {
    const names = Array.from({ length: count }, (_, n) => [`runbooks/${n}.md`, '# A'] as const);
    return served(Object.fromEntries(names), 'runbook_search', { query: 'a' });
  },
  evidenceQueryChars: (chars) => served({}, 'runbook_search', { query: 'q'.repeat(chars) }),
  evidencePages: taken('pages', list),
  evidenceTools: taken('tools', list),
  evidenceNoteBytes: async (bytes) => {
    const { source } = sourceToPeer('note', {}, bytes);
    return (await errorOf(call(source)))?.lastWords?.length === bytes;
  },
  evidenceArgumentBytes: async (bytes) => {
    const source: EvidenceSource = {
      servers: ['peer'],
      list: () => Promise.resolve([STATUS]),
      call: () => Promise.resolve({ text: '', isError: false }),
      argumentFaults: () => [],
      close: () => Promise.resolve(),
    };
    const gathering = createGathering({
      source,
      allowlist: [{ server: 'peer', name: 'status', pin: definitionHash(STATUS) }],
      bounds: { steps: 1, callTimeoutMs: 1_000, outputBytes: 10 },
      clock: systemClock,
    });
    const args = { a: 'x'.repeat(bytes - '{"a":""}'.length) };
    const outcome = await gathering.ask(
      { server: 'peer', tool: 'status', arguments: args },
      soon(),
    );
    return outcome.code === 'OBSERVED';
  },
} as const satisfies { readonly [name: string]: Case };
