import { sqliteFiles } from '../support/sqlite-files.ts';
import { builtIn } from './tickets/built-in.ts';
import { ticketContract } from './tickets/contract.ts';

ticketContract(
  builtIn(async () => {
    const files = sqliteFiles();
    return {
      store: await files.open(),
      clock: files.clock,
      tenant: 'acme',
      close: () => files.remove(),
    };
  }),
);
