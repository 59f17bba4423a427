import type { Command } from 'commander';
import type { Settings } from '../settings.ts';

/** What a room of commands is added with. */
export interface Commands {
  readonly program: Command;
  /** Prints a line on standard output. */
  readonly out: (text: string) => void;
  /** The settings under the flags that every command may have. */
  readonly settings: (flags: { readonly data?: string }) => Settings;
  /** Makes the exit code 1. */
  readonly fail: () => void;
}
