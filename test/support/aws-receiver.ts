/** SNS and EventBridge on a local port, as far as a message is sent to them, with faults on demand. */
import type { ServerResponse } from 'node:http';
import { startReceiver, type Receiver } from './receiver.ts';

/** The service that is spoken to. */
export type AwsService = 'sns' | 'eventbridge';

/** What the service answers: acceptance, an error by status and name, or a refusal within a 200. */
export type AwsAnswer =
  | { readonly status: 200 }
  | { readonly status: number; readonly code: string }
  | { readonly entryCode: string }
  | { readonly body: string };

/** Starts it. */
export function startAws(service: AwsService, answer: AwsAnswer): Promise<Receiver> {
  return startReceiver((response) => {
    if ('body' in answer) end(response, 200, answer.body, JSON_TYPE);
    else if ('entryCode' in answer) end(response, 200, failedEntry(answer.entryCode), JSON_TYPE);
    else if (service === 'sns') overQuery(response, answer);
    else overJson(response, answer);
  });
}

const JSON_TYPE = 'application/x-amz-json-1.1';

function failedEntry(code: string): string {
  const entry = { ErrorCode: code, ErrorMessage: 'pressure of Ana was 2.1 bar' };
  return JSON.stringify({ FailedEntryCount: 1, Entries: [entry] });
}

function overJson(response: ServerResponse, answer: { status: number; code?: string }): void {
  const body =
    answer.code === undefined
      ? { FailedEntryCount: 0, Entries: [{ EventId: 'e-1' }] }
      : { __type: answer.code, message: 'pressure of Ana was 2.1 bar' };
  end(response, answer.status, JSON.stringify(body), JSON_TYPE);
}

function overQuery(response: ServerResponse, answer: { status: number; code?: string }): void {
  const xmlns = 'xmlns="http://sns.amazonaws.com/doc/2010-03-31/"';
  const body =
    answer.code === undefined
      ? `<PublishResponse ${xmlns}><PublishResult><MessageId>m-1</MessageId></PublishResult></PublishResponse>`
      : `<ErrorResponse ${xmlns}><Error><Type>Sender</Type><Code>${answer.code}</Code>` +
        '<Message>pressure of Ana was 2.1 bar</Message></Error></ErrorResponse>';
  end(response, answer.status, body, 'text/xml');
}

function end(response: ServerResponse, status: number, body: string, type: string): void {
  response.writeHead(status, { 'content-type': type }).end(body);
}
