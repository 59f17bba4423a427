/** @type {import('jest').Config} */
export default {
  testEnvironment: 'node',
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/', '<rootDir>/test/architecture/fixtures/'],
  modulePathIgnorePatterns: [
    '<rootDir>/cdk.out/',
    '<rootDir>/dist/',
    '<rootDir>/reports/',
    '<rootDir>/test/architecture/fixtures/',
  ],
  setupFiles: ['<rootDir>/test/support/check-answers.setup.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '\\.ts$': [
      '@swc/jest',
      {
        jsc: { parser: { syntax: 'typescript' }, target: 'es2024' },
        module: { type: 'es6' },
        sourceMaps: 'inline',
      },
    ],
  },
  testTimeout: 30_000,
};
