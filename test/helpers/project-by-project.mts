import { BaseSequencer, type TestSpecification } from 'vitest/node';

const order = ['e2e', 'program', 'unit'];

/**
 * The tests of processes first: they wait, and those in one process can fill the gaps at the end. All of a project
 * together, since a worker starts anew, and loads everything again, where the next file is of another project. Before all
 * others the scripts of the pages, one of which waits half a minute: otherwise a first run, which knows no times, ends with it.
 */
export class ProjectByProject extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ project, moduleId }: TestSpecification) =>
      moduleId.endsWith('recipes/scripts.test.ts') ? -1 : order.indexOf(project.name);
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}
