import { createHash } from 'node:crypto';
import Joi from 'joi';

/** A table of a backup, as it is there. */
export type BackedUpTable = { readonly name: string; readonly rows: number; readonly bytes: number; readonly parts: number };

/** What a sink's group had committed of a partition before the tables were backed up: all before it is in the backup. */
export type NotedPosition = {
  readonly sink: string;
  readonly topic: string;
  readonly partition: number;
  /** As committed, with the intent; -1: nothing was. */
  readonly offset: number;
  readonly metadata: string;
  /** The first record that Kafka had, and the one that came next. */
  readonly low: number;
  readonly end: number;
};

/** What is known of a backup, beside its tables. It is written last: what has none is no backup. */
export type Manifest = {
  readonly format: typeof FORMAT;
  /** The version of the program that made it, and the number of the last migration of its tables. */
  readonly program: string;
  readonly schema: number;
  readonly database: string;
  /** When the positions were noted, ISO 8601. */
  readonly madeAt: string;
  /** The id of the Kafka cluster. */
  readonly cluster: string;
  readonly tables: readonly BackedUpTable[];
  readonly positions: readonly NotedPosition[];
};

/** The layout of a manifest. */
export const FORMAT = 1;

const whole = Joi.number().integer().min(0).required();
const schema = Joi.object<Manifest>({
  format: Joi.number().required(),
  program: Joi.string().required(),
  schema: whole,
  database: Joi.string().required(),
  madeAt: Joi.string().isoDate().required(),
  cluster: Joi.string().allow('').required(),
  tables: Joi.array()
    .items(
      Joi.object({
        name: Joi.string()
          .pattern(/^[A-Za-z_][A-Za-z0-9_]*$/)
          .required(),
        rows: whole,
        bytes: whole,
        parts: whole,
      }),
    ) // prettier-ignore
    .min(1)
    .unique('name')
    .required(),
  positions: Joi.array()
    .items(
      Joi.object({
        ...{ sink: Joi.string().required(), topic: Joi.string().required(), partition: whole },
        ...{
          offset: Joi.number().integer().min(-1).required(),
          metadata: Joi.string().allow('').max(4096).required(),
          low: whole,
          end: whole,
        },
      }),
    )
    .required(),
}).unknown();

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex');

/** The manifest as text, and a hash of it that shows damage. */
export function renderManifest(manifest: Manifest): { readonly text: string; readonly digest: string } {
  const text = JSON.stringify(manifest);
  return { text, digest: digestOf(text) };
}

/** Reads a manifest. Throws an Error with a sentence for one that is damaged, was not made by this program, or is of a newer version. */
export function readManifest(text: string, digest: string, newestSchema: number): Manifest {
  if (digestOf(text) !== digest) throw new Error('The manifest of the backup is damaged: its text does not have its hash.');
  const { format, program } = JSON.parse(text) as Partial<Manifest>;
  if (format !== FORMAT)
    throw new Error(`The backup has the format ${String(format)} of version ${String(program)}; this version reads ${String(FORMAT)}.`);
  const checked = schema.validate(JSON.parse(text), { convert: false });
  if (checked.error !== undefined) throw new Error(`The manifest of the backup is not one of Logweir: ${checked.error.message}.`);
  const { value } = checked;
  if (value.schema > newestSchema)
    throw new Error(
      `The backup was made by version ${value.program}, whose tables are newer (${String(value.schema)}) than those of this version (${String(newestSchema)}): restore it with that version or a later one.`,
    );
  return value;
}
