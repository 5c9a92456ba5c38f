import { testColumn } from './matrix.ts';

testColumn('watch');
