// A client of the 2026-07-28 era that can be asked, over the whole surface: commands become tool calls,
// and questions come back as `input_required`.
import type { Command, StepInput } from '../../lib/core/model/commands.ts';
import type { Principal } from '../../lib/core/model/principal.ts';
import type { Outcome } from '../../lib/core/outcome.ts';
import type { StorageBackend } from '../../lib/core/ports/storage.ts';
import type { ProcedureRegistry } from '../../lib/core/procedures.ts';
import { createQueries } from '../../lib/core/queries.ts';
import type { Service } from '../../lib/core/service/service.ts';
import { createApp, type CheckpointApp } from '../../lib/surface/app.ts';
import { send } from '../support/rpc.ts';
import { PUBLIC_URL, restOn } from '../support/surface-world.ts';

/** What the client brings back from the round before. */
export interface Back {
  readonly state: string;
  readonly reply: { readonly action: 'accept' | 'decline' | 'cancel'; readonly content?: object };
}

/** What a call came to. */
export interface Told {
  /** The question, and the answers that its form offers where it offers some. */
  readonly question?: { readonly state: string; readonly options: readonly string[] };
  /** The code of the structured answer, or the reason of a refused state. */
  readonly code: string;
  /** What the core said; undefined where it was not asked. */
  readonly outcome: Outcome | undefined;
}

interface Turn {
  readonly principal: Principal;
  readonly service: Service;
  readonly nowMs: number;
  outcome: Outcome | undefined;
}

/** One surface for every history: whose turn it is decides which service answers. */
export class AskingClient {
  readonly #app: CheckpointApp;
  #turn: Turn | undefined;

  constructor(store: StorageBackend, registry: ProcedureRegistry) {
    const turn = (): Turn => {
      if (this.#turn === undefined) throw new Error('nobody is calling');
      return this.#turn;
    };
    this.#app = createApp({
      service: {
        execute: async (principal, command, deadlineMs, requestId) => {
          const now = turn();
          now.outcome = await now.service.execute(principal, command, deadlineMs, requestId);
          return now.outcome;
        },
      },
      queries: createQueries(store, registry),
      ...restOn(store),
      registry,
      store: { noteProfile: () => Promise.resolve(), check: () => Promise.resolve() },
      verifier: {
        verify: () => {
          const { via: _via, ...principal } = turn().principal;
          const expiresAt = Number.MAX_SAFE_INTEGER;
          return Promise.resolve({ ok: true, principal, expiresAt });
        },
      },
      clock: { now: () => this.#turn?.nowMs ?? 0, sleep: () => Promise.resolve() },
      publicUrl: PUBLIC_URL,
      authorizationServers: [],
      allowedOrigins: [],
      allowedHosts: [],
      authProfile: 'alexa',
      commandTimeoutMs: 60_000,
      serverVersion: '1.2.3',
      log: (entry) => {
        if (entry['level'] === 'error') throw new Error(JSON.stringify(entry));
      },
    });
  }

  /** Calls the tool of a command for a person. */
  async call(
    { principal, service, nowMs }: Omit<Turn, 'outcome'>,
    command: Command,
    back?: Back,
  ): Promise<Told> {
    const turn: Turn = { principal, service, nowMs, outcome: undefined };
    this.#turn = turn;
    const [name, args] = toolCall(command);
    const params = {
      name,
      arguments: args,
      ...(back !== undefined && {
        requestState: back.state,
        inputResponses: { answer: back.reply },
      }),
    };
    const capabilities = { elicitation: { form: {} } };
    const { body, text } = await send(this.#app, 'stateless', 'tools/call', params, {
      capabilities,
    });
    this.#turn = undefined;
    return { ...read(body, text), outcome: turn.outcome };
  }
}

function read(body: Readonly<Record<string, unknown>>, text: string): Omit<Told, 'outcome'> {
  const error = body['error'] as { data?: { reason?: string } } | undefined;
  if (error?.data?.reason !== undefined) return { code: error.data.reason };
  const result = body['result'] as
    | {
        requestState?: string;
        structuredContent?: { code: string };
        inputRequests?: { answer: { params: { requestedSchema: { properties: object } } } };
      }
    | undefined;
  if (result?.requestState !== undefined && result.inputRequests !== undefined) {
    const { properties } = result.inputRequests.answer.params.requestedSchema;
    const [form] = Object.values(properties) as { oneOf?: { const: string }[] }[];
    const options = (form?.oneOf ?? []).map((option) => option.const);
    return { code: 'asked', question: { state: result.requestState, options } };
  }
  if (result?.structuredContent === undefined) throw new Error(`no answer: ${text}`);
  return { code: result.structuredContent.code };
}

/** The tool and the arguments that a command comes from. */
function toolCall(command: Command): readonly [string, object] {
  const { key } = command;
  const keyed = key === undefined ? {} : { idempotency_key: key };
  if (command.type === 'start_workflow') {
    const { procedure, asset } = command;
    return ['start_workflow', { procedure, asset, ...keyed }];
  }
  const { type, workflow } = command;
  const about = { ...(workflow !== undefined && { workflow_id: workflow }), ...keyed };
  switch (type) {
    case 'record_step':
    case 'correct_step': {
      const { step, input, confirmation: token } = command;
      const names = {
        ...(type === 'correct_step' && { replaces: command.replaces }),
        ...(type === 'record_step' &&
          command.confirms !== undefined && { confirms: command.confirms }),
        ...(token !== undefined && { confirmation_token: token }),
      };
      return ['record_step', { ...about, step, ...argumentOf(input), ...names }];
    }
    case 'hand_over':
    case 'abandon_workflow': {
      const { tenure } = command;
      const what = type === 'hand_over' ? { to: command.to } : { reason: command.reason };
      return [type, { ...about, ...what, ...(tenure !== undefined && { tenure }) }];
    }
    case 'complete_workflow':
      return [type, about];
    case 'decide_approval': {
      const { approved, action_hash } = command;
      return [type, { ...about, approved, action_hash }];
    }
    case 'resolve_block': {
      const { block, decision, reason } = command;
      return [type, { ...about, block, decision, reason }];
    }
  }
}

function argumentOf(input: StepInput): object {
  const unit = 'unit' in input && input.unit !== undefined ? { unit: input.unit } : {};
  switch (input.kind) {
    case 'reading':
      return { reading: input.value, ...unit };
    case 'spoken_reading':
      return { spoken_reading: input.text, ...unit };
    case 'choice':
      return { choice: input.option };
    case 'text':
      return { text: input.text };
    case 'skip':
      return { skip_reason: input.reason };
    case 'confirm':
      return { confirmed: input.confirmed };
  }
}
