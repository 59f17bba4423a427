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
    process.send({ id, result: await handler(event, context) });
  } catch (error) {
    process.send({ id, error: String(error) });
  }
}

process.on('message', (message) => void answer(message));
process.send({ loadedMs: performance.now() });
