// The HTTP function of a deployment: what it tells of itself, its chain, and the app behind it.
import { createHttpFunction, type HttpFunction } from '../lambda/http-handler.ts';
import { createObservers } from '../lambda/observers.ts';
import type { Environment } from '../settings.ts';
import { pagesBeside } from './pages.ts';
import { openAwsApp, type AwsOptions } from './aws.ts';

/** Builds the function and starts it; the settings are read by each start. */
export function httpFunction(
  environment: Environment,
  options: Pick<AwsOptions, 'version' | 'mcpFactory'> & {
    /** The folder of the bundle. */
    readonly folder: string;
  },
): HttpFunction {
  const observers = createObservers();
  const { log, onFault, onToolCall, setLogLevel } = observers;
  const told = { log, onFault, onToolCall };
  const { folder, ...rest } = options;
  const pages = pagesBeside(folder);
  return createHttpFunction(observers, () =>
    openAwsApp(environment, {
      ...rest,
      pages,
      ...told,
      onSettings: ({ logLevel }) => {
        setLogLevel(logLevel);
      },
    }),
  );
}
