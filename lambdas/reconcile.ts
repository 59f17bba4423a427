// The function behind the reconciler's state machine: settings, wiring, export.
import { reconcileFunction } from '../lib/wiring/reconcile-function.ts';

const { handler, started } = reconcileFunction(process.env);

await started;

export { handler };
