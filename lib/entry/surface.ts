// The package's entry to the surface: the HTTP app with its MCP endpoint, and the words, on any core.
export { createApp, type AppParts, type CheckpointApp } from '../surface/app.ts';
export type { AuthProfile } from '../surface/auth.ts';
export type { Log, LogEntry } from '../surface/request-line.ts';
export { createSpeech, type Speech } from '../surface/speech.ts';
