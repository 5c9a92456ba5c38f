import { testColumn } from './matrix.ts';

testColumn('status');
