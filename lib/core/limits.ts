// Every bound of the product in one table. Nothing else in the code states a limit of its own.

/** One bound: the largest accepted amount, its unit, and why it is what it is. */
export interface Limit {
  readonly max: number;
  readonly unit: string;
  readonly reason: string;
}

/** The limits table. Each row is tested at the limit and one past it, in test/limits. */
export const LIMITS = {
  bodyBytes: {
    max: 262_144,
    unit: 'bytes',
    reason: 'far below the 6 MB a function accepts, far above any command',
  },
  headerBytes: {
    max: 16_384,
    unit: 'bytes',
    reason: 'the longest token, twice',
  },
  requestMs: {
    max: 4_000,
    unit: 'ms',
    reason: 'a request that takes longer to arrive has no listener any more',
  },
  hostMarginMs: {
    max: 1_000,
    unit: 'ms',
    reason:
      'kept of the time a function has: half for ending its work, half for sending the answer',
  },
  idleMs: { max: 3_000, unit: 'ms', reason: 'a connection that is kept for the next call' },
  connections: {
    max: 2_000,
    unit: 'connections',
    reason: 'far beyond one plant, within one process',
  },
  jsonDepth: { max: 32, unit: 'levels', reason: 'no command nests deeper than five' },
  jsonNodes: { max: 200_000, unit: 'containers', reason: 'more than any accepted body can hold' },
  idempotencyKeyChars: { max: 255, unit: 'characters', reason: 'what widely used APIs accept' },
  assetChars: { max: 64, unit: 'characters', reason: 'a label on a machine' },
  listedAssets: {
    max: 1_000,
    unit: 'assets',
    reason: 'those that are looked through for a name that was misheard',
  },
  assetSuggestions: { max: 3, unit: 'assets', reason: 'what can be asked in one question' },
  subjectChars: { max: 272, unit: 'characters', reason: 'an OpenID subject of 255 and its issuer' },
  displayNameChars: { max: 64, unit: 'characters', reason: 'a name that can be spoken' },
  tokenChars: {
    max: 8_192,
    unit: 'characters',
    reason: 'a token with many groups, and still within what gateways take as one header',
  },
  requestStateChars: {
    max: 2_048,
    unit: 'characters',
    reason: 'a signed question that names the longest subject',
  },
  tenantChars: { max: 64, unit: 'characters', reason: 'part of every key' },
  workflowIdChars: { max: 64, unit: 'characters', reason: 'more than twice an id of ours' },
  confirmationTokenChars: {
    max: 200,
    unit: 'characters',
    reason: 'more than the longest token of a read-back',
  },
  idChars: { max: 48, unit: 'characters', reason: 'what an author calls a step or a procedure' },
  titleChars: { max: 120, unit: 'characters', reason: 'a name that is spoken within a sentence' },
  sentenceChars: { max: 300, unit: 'characters', reason: 'an instruction of two sentences' },
  procedureVersion: { max: 9_999, unit: 'versions', reason: 'a new version every day, for years' },
  assetPatternChars: { max: 120, unit: 'characters', reason: 'the form of a label' },
  unitSymbolChars: { max: 16, unit: 'characters', reason: 'what stands on a gauge' },
  unitNameChars: {
    max: 64,
    unit: 'characters',
    reason: 'a unit in full words, in a definition and as it is said',
  },
  unitAliases: { max: 16, unit: 'names', reason: 'what people call one unit' },
  decimals: { max: 9, unit: 'places', reason: 'finer than any gauge, exact in a number' },
  procedureRules: { max: 50, unit: 'rules', reason: 'one for every second step' },
  escalations: { max: 10, unit: 'audiences', reason: 'who is told of one deviation' },
  timerMinutes: {
    max: 525_600,
    unit: 'minutes',
    reason: 'a year: the longest work, and the longest wait',
  },
  timerTimes: { max: 24, unit: 'times', reason: 'every hour of a day' },
  procedureSteps: {
    max: 100,
    unit: 'steps',
    reason: 'one bounded slot per step in the state item',
  },
  textChars: { max: 2_000, unit: 'characters', reason: 'about four minutes of dictation' },
  reasonChars: { max: 500, unit: 'characters', reason: 'a spoken sentence or two' },
  spokenReadingChars: {
    max: 200,
    unit: 'characters',
    reason: 'a long number in words, with the longest unit',
  },
  unitConversions: {
    max: 8,
    unit: 'conversions',
    reason: 'the units that gauges of one kind show',
  },
  choiceOptions: { max: 12, unit: 'options', reason: 'more cannot be chosen by ear' },
  spokenChoices: { max: 5, unit: 'choices', reason: 'what a listener keeps in mind' },
  spokenWords: { max: 74, unit: 'words', reason: 'an answer of less than thirty seconds' },
  faultsShown: { max: 20, unit: 'faults', reason: 'what an assistant can act on at once' },
  replyBytes: { max: 20_000, unit: 'bytes', reason: 'a tool answer that no client cuts short' },
  uriChars: { max: 256, unit: 'characters', reason: 'no resource has a longer URI' },
  completions: { max: 100, unit: 'values', reason: 'the largest answer that clients accept' },
  namedProfiles: { max: 10_000, unit: 'people', reason: 'those a process remembers to have named' },
  ratedCallers: { max: 10_000, unit: 'callers', reason: 'those whose calls a process counts' },
  blockedShown: { max: 20, unit: 'workflows', reason: 'what one answer can hold' },
  rememberedTokens: { max: 1_000, unit: 'tokens', reason: 'accepted ones, known again by a hash' },
  rememberedWorkflows: {
    max: 1_000,
    unit: 'workflows',
    reason: 'what one process works on at a time',
  },
  eventsPerWorkflow: {
    max: 10_000,
    unit: 'events',
    reason: 'far beyond any procedure, keeps a walk bounded',
  },
  stateBytes: { max: 32_768, unit: 'bytes', reason: 'one read unit class, one write' },
  lastValuesBytes: {
    max: 4_096,
    unit: 'bytes',
    reason: 'an eighth of a state, which the steps of a workflow can still use',
  },
  serviceChars: { max: 100, unit: 'characters', reason: 'the name of a service' },
  symptomChars: { max: 1_000, unit: 'characters', reason: 'what is wrong, in a paragraph' },
  observations: { max: 32, unit: 'observations', reason: 'what a person can look through' },
  observationBytes: {
    max: 16_384,
    unit: 'bytes',
    reason: 'of one tool’s output: some pages of text, the digest of the rest is kept',
  },
  actionBytes: {
    max: 12_288,
    unit: 'bytes',
    reason: 'of canonical JSON: more than a person reads, and room for the rest of a state',
  },
  runAttempts: {
    max: 20,
    unit: 'attempts',
    reason: 'starts of work of one run, by hand or by repair; keeps its trail bounded',
  },
  localExecutions: {
    max: 4,
    unit: 'executions',
    reason: 'work of runs that one process does at once',
  },
  waitingExecutions: { max: 1_000, unit: 'executions', reason: 'work that waits in one process' },
  endedExecutions: {
    max: 1_000,
    unit: 'executions',
    reason: 'those that a process knows not to begin again',
  },
  itemBytes: { max: 409_600, unit: 'bytes', reason: 'the largest DynamoDB item' },
  transactionItems: { max: 100, unit: 'items', reason: 'the largest DynamoDB transaction' },
  transactionBytes: { max: 4_194_304, unit: 'bytes', reason: 'the largest DynamoDB transaction' },
  partitionKeyBytes: { max: 2_048, unit: 'bytes', reason: 'the longest DynamoDB partition key' },
  sortKeyBytes: { max: 1_024, unit: 'bytes', reason: 'the longest DynamoDB sort key' },
  pageItems: { max: 100, unit: 'items', reason: 'the largest page of any list' },
  countedWorkflows: {
    max: 10_000,
    unit: 'workflows or runs',
    reason: 'enough to see that there are many in one state',
  },
  commandAttempts: { max: 12, unit: 'attempts', reason: 'contention ends long before' },
  conflictTries: {
    max: 8,
    unit: 'sends',
    reason: 'of one call while others write the same item; the next attempt reads first',
  },
  sweepDays: { max: 30, unit: 'days', reason: 'how long what sweeps found is kept for people' },
  sweepFindings: {
    max: 100,
    unit: 'findings',
    reason: 'of one sweep and tenant; others are counted',
  },
  notedSweeps: {
    max: 300,
    unit: 'sweeps',
    reason: 'of one shard and tenant whose findings are kept on a day; one every five minutes',
  },
  findingChars: { max: 300, unit: 'characters', reason: 'one sentence about what was found' },
  ledgerDays: { max: 30, unit: 'days', reason: 'the documented life of an idempotency key' },
  displayedChars: {
    max: 500,
    unit: 'characters',
    reason: 'of a text of others in one field, before it is shortened with a count',
  },
  runWaitSeconds: {
    max: 20,
    unit: 'seconds',
    reason: 'of waiting for a proposal in one request, below the timeouts on its way',
  },
  displayedFields: { max: 100, unit: 'fields', reason: 'what a person can still look through' },
  evidenceMessageBytes: {
    max: 1_048_576,
    unit: 'bytes',
    reason: 'one message of a tool server, far above a useful answer',
  },
  evidenceChatterBytes: {
    max: 4_194_304,
    unit: 'bytes',
    reason: 'what a tool server may say without answering anything',
  },
  evidenceChatterLines: {
    max: 2_000,
    unit: 'lines',
    reason: 'the same, counted in lines: each of them costs time',
  },
  evidencePages: { max: 20, unit: 'pages', reason: 'of a list of tools, which has one or two' },
  evidenceTools: { max: 500, unit: 'tools', reason: 'of one server, more than anybody reviews' },
  evidenceArgumentBytes: { max: 8_192, unit: 'bytes', reason: 'a question, not a document' },
  evidenceServices: { max: 1_000, unit: 'services', reason: 'in one file that people edit' },
  evidenceRunbooks: { max: 500, unit: 'files', reason: 'all are looked at before every search' },
  evidenceQueryChars: { max: 200, unit: 'characters', reason: 'words to look for, not a text' },
  evidenceNoteBytes: {
    max: 2_048,
    unit: 'bytes',
    reason: 'the end of what a tool server wrote on standard error, for whoever repairs it',
  },
  confirmationMinutes: {
    max: 10,
    unit: 'minutes',
    reason: 'a read-back is answered in one breath',
  },
} as const satisfies Record<string, Limit>;
