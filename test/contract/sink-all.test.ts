import { sinkContract } from './sinks/contract.ts';
import { SINKS } from './sinks/subjects.ts';

for (const subject of SINKS) sinkContract(subject);
