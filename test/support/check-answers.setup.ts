/** Holds what every test fetches from a REST surface against the OpenAPI document. */

const plain = globalThis.fetch;

/** Servers of this machine; others are not ours. */
const LOCAL = /^(?:127\.0\.0\.1|localhost|\[::1\])$/;

globalThis.fetch = async (input, init) => {
  const response = await plain(input, init);
  const url = new URL(input instanceof Request ? input.url : String(input));
  if (!LOCAL.test(url.hostname) || !/^\/(?:v1\/|health|openapi\.json|docs)/.test(url.pathname)) {
    return response;
  }
  // Every answer of ours has one; what does not is a test's own stand-in for other software.
  if (!response.headers.has('x-request-id')) return response;
  const { checkAnswer, isRest } = await import('./checked-answers.ts');
  const method = init?.method ?? (input instanceof Request ? input.method : 'GET');
  if (isRest(url.pathname)) await checkAnswer(method.toUpperCase(), url.pathname, response);
  return response;
};
