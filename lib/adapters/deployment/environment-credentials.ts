// Stands in for the SDK's chain of credential providers in the bundle of a function, where credentials
// come through the environment and nowhere else. Same name and shape as the package's export.

interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** Builds a provider that reads the environment with each call, because the platform renews it. */
export function defaultProvider(): () => Promise<Credentials> {
  return () => {
    const {
      AWS_ACCESS_KEY_ID: accessKeyId,
      AWS_SECRET_ACCESS_KEY: secretAccessKey,
      AWS_SESSION_TOKEN: sessionToken,
    } = process.env;
    if (accessKeyId === undefined || secretAccessKey === undefined) {
      const missing = new Error('the environment holds no credentials');
      missing.name = 'CredentialsProviderError';
      return Promise.reject(missing);
    }
    return Promise.resolve({
      accessKeyId,
      secretAccessKey,
      ...(sessionToken !== undefined && { sessionToken }),
    });
  };
}
