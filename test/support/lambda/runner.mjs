// A function's process: loads a bundle as the platform does, then answers one event after the other.
// Plain JavaScript, so that nothing but the bundle is loaded. Argument: the file of the bundle.
import { pathToFileURL } from 'node:url';

const [file = ''] = process.argv.slice(2);
const { handler } = await import(pathToFileURL(file).href);

async function answer({ id, event, timeoutMs }) {
  const endsAt = Date.now() + timeoutMs;
  const context = {
    awsRequestId: `request-${id}`,
    functionName: 'http',
    functionVersion: '$LATEST',
    invokedFunctionArn: 'arn:aws:lambda:eu-central-1:123456789012:function:http',
    memoryLimitInMB: '1769',
    logGroupName: 'http',
    logStreamName: 'one',
    getRemainingTimeInMillis: () => endsAt - Date.now(),
  };
  try {
    const result = await handler(event, context);
    const { user, system } = process.cpuUsage();
    // A function that answers nothing has answered, too.
    process.send({ id, result: result ?? null, processorMs: (user + system) / 1_000 });
  } catch (error) {
    process.send({ id, error: String(error) });
  }
}

process.on('message', (message) => void answer(message));
// Without this a profile of the process would never be written.
process.once('SIGTERM', () => process.exit());
process.send({ loadedMs: performance.now() });
