import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * The tests of processes first: they wait, and those in one process can fill the gaps at the end. All of a project
 * together, since a worker starts anew, and loads everything again, where the next file is of another project.
 */
export class ProjectByProject extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ project }: TestSpecification) => (project.name === 'e2e' ? 0 : 1);
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}
