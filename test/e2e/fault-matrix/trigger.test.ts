import { testColumn } from './matrix.ts';

testColumn('trigger');
