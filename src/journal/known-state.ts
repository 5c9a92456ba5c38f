const stateFields = ['status', 'startedAt', 'completedAt', 'creditsCharged'] as const;

/** What the service has told of a run's state. */
export type KnownState = Partial<Record<(typeof stateFields)[number], string | number | null>>;

/** Tells it nothing new? A field that is left out says nothing. */
export const isKnown = (told: KnownState, known: KnownState) =>
  stateFields.every((field) => told[field] === undefined || told[field] === known[field]);

/** What is known once this is told, too. */
export const learn = (told: KnownState, known: KnownState = {}): KnownState =>
  Object.fromEntries(stateFields.map((field) => [field, told[field] ?? known[field]]));
