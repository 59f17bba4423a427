// What the official client throws, in our words.
import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client';
import { EvidenceError, isEvidenceError } from '../../core/ports/evidence.ts';

/** What is said of a server that is late. */
export const NO_ANSWER = 'it did not answer in time';

/** An error of the client in our words; what the server said is not repeated. */
export function toldError(error: unknown, server: string): EvidenceError {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (isEvidenceError(at)) return at;
  }
  const made = (code: EvidenceError['code'], message: string): EvidenceError =>
    new EvidenceError(code, server, message, { cause: error });
  if (error instanceof ProtocolError) {
    return made('CALL_REFUSED', `it answered with the error ${error.code}`);
  }
  if (error instanceof SdkHttpError) {
    const { status } = error.data as { readonly status?: number };
    return made('ANSWER_UNUSABLE', `it answered with HTTP ${status ?? 'of no status'}`);
  }
  if (error instanceof SdkError) {
    switch (error.code) {
      case SdkErrorCode.RequestTimeout:
        return made('SERVER_TIMEOUT', NO_ANSWER);
      case SdkErrorCode.ConnectionClosed:
      case SdkErrorCode.NotConnected:
      case SdkErrorCode.SendFailed:
        return made('SERVER_UNREACHABLE', 'the connection was lost');
      case SdkErrorCode.UnsupportedResultType:
        return made('CALL_REFUSED', 'it asks for input, which is refused');
      default:
        return made('ANSWER_UNUSABLE', 'it does not answer by the protocol');
    }
  }
  return made('ANSWER_UNUSABLE', 'it does not answer by the protocol');
}
