import { sqliteFiles } from '../support/sqlite-files.ts';
import { runWriters } from '../support/writers.ts';
import { storageContract } from './storage-contract.ts';

storageContract('sqlite', {
  open: async () => {
    const files = sqliteFiles();
    const { path, clock } = files;
    const opener = { module: './open-sqlite.ts', options: { path } };
    return {
      store: await files.open(),
      clock,
      reopen: () => files.open(),
      runWriters: (tasks) => runWriters(opener, tasks),
      close: () => files.remove(),
    };
  },
});
