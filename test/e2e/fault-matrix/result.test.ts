import { testColumn } from './matrix.ts';

testColumn('result');
