import * as v from 'valibot';

const profile = v.looseObject({
  apiKey: v.optional(v.string()),
  baseUrl: v.optional(v.string()),
  project: v.optional(v.string()),
  requestTimeout: v.optional(v.string()),
});

const configFile = v.looseObject({
  profile: v.optional(v.string()),
  profiles: v.optional(v.record(v.string(), profile)),
});

export type ConfigFile = v.InferOutput<typeof configFile>;

/** The file's content, or the path of the field that is wrong. */
export function readConfigFile(value: unknown): { file: ConfigFile } | { wrongField: string } {
  const parsed = v.safeParse(configFile, value);
  if (parsed.success) return { file: parsed.output };
  return { wrongField: v.getDotPath(parsed.issues[0]) ?? 'its outermost value' };
}
