// Which files are changed, and which tests must notice: only fast ones of the core, and of those the
// ones that say something about the file, so that a part takes minutes.

/** Per cent of the mutants that the tests must notice. */
export const TARGET = 90;

/** The tests of a file, by paths below `test/core` and without their ending. */
type Tests = readonly string[];

const digest = ['canonical', 'events', 'confirmation'];
const plan = ['plan', 'check-transaction'];
const ledger = ['ledger', 'service/service', 'service/repeats'];
const rules = ['reconcile/rules'];
const times = ['decide/times', 'timers', 'reconcile/overdue'];
const lost = 'decide/lost-lock';
const [answers, effects, lifecycle, record, refusals] = [
  'decide/answers',
  'decide/effects',
  'decide/lifecycle',
  'decide/record',
  'decide/refusals',
];

/** The parts by name: each file with its tests. */
export const PARTS: Readonly<Record<string, Readonly<Record<string, Tests>>>> = {
  digest: {
    'lib/core/canonical.ts': digest,
    'lib/core/events.ts': digest,
    'lib/core/confirmation.ts': digest,
    'lib/core/secrets.ts': digest,
  },
  ledger: {
    'lib/core/ledger.ts': ['ledger'],
    'lib/core/service/repeats.ts': ledger,
  },
  plan: {
    'lib/core/plan.ts': plan,
    'lib/core/check-transaction.ts': plan,
  },
  decide: {
    'lib/core/decide/assignment.ts': [answers, effects, lifecycle, refusals],
    'lib/core/decide/decide.ts': [effects, lifecycle, refusals],
    'lib/core/decide/decision.ts': [effects, lifecycle, lost, refusals, ...times],
    'lib/core/decide/erase.ts': ['decide/erase'],
    'lib/core/decide/findings.ts': [effects, record, refusals],
    'lib/core/decide/record.ts': [answers, effects, record, refusals],
    'lib/core/decide/recording.ts': [answers, effects, record],
    'lib/core/decide/repeated.ts': [answers, record, refusals],
    'lib/core/decide/resolve.ts': [effects, lifecycle, lost, refusals],
    'lib/core/decide/skip.ts': ['decide/skip', effects, refusals],
    'lib/core/decide/start.ts': [effects, lifecycle, refusals],
    'lib/core/decide/step-input.ts': ['decide/step-input', record],
    'lib/core/decide/witnessed.ts': [answers, effects, record, refusals],
    'lib/core/decide/write-record.ts': [effects, record, refusals],
  },
  repair: {
    'lib/core/decide/asset-lock.ts': [...rules, lost, effects, refusals],
    'lib/core/decide/lost-lock.ts': [...rules, lost],
    'lib/core/reconcile/books.ts': rules,
    'lib/core/reconcile/lost-lock.ts': rules,
    'lib/core/reconcile/orphan-lock.ts': rules,
    'lib/core/dispatch/row.ts': ['dispatch/row'],
  },
};

/** The files of a part, or one file of any part, each with its tests; undefined for other names. */
export function filesOf(name: string): readonly (readonly [string, Tests])[] | undefined {
  if (Object.hasOwn(PARTS, name)) return Object.entries(PARTS[name] ?? {});
  const tests = Object.values(PARTS).find((files) => Object.hasOwn(files, name))?.[name];
  return tests && [[name, tests]];
}
