/** What ingest knows of a source: read once, and remembered for a while. */
import type { KeptSecrets } from '../accounts/kept-secrets.ts'
import type { DataLayer } from '../db/data-layer.ts'
import type { Source } from '../items/source.ts'
import type { Plan } from '../plans.ts'
import type { SecretList } from '../signing/secret-list.ts'
import { signingOf } from '../verification/configuration.ts'
import type { SigningScheme } from '../verification/schemes.ts'

export interface KnownSource {
  source: Source
  plan: Plan
  /** How many events of the owner were counted in which month. */
  usage: { month: string; events: number }
  /** A month of which it is known that there is no room left in it. */
  fullMonth: string | undefined
  /** Undefined if nothing is verified. */
  scheme: SigningScheme | undefined
  secrets: SecretList
}

export interface KnownSourceDeps {
  db: Pick<DataLayer, 'sources' | 'users'>
  kept: Pick<KeptSecrets, 'sourceSecrets'>
}

/** Null if it takes no events: unknown, paused or deleted. */
export async function readSource(
  sourceId: string,
  { db, kept }: KnownSourceDeps,
): Promise<KnownSource | null> {
  const found = await db.sources.getById(sourceId)
  if (!found) return null
  // The index may be a moment behind, and what is remembered now is believed for a minute.
  const source = await db.sources.getOwned(sourceId, found.userId)
  if (source?.status !== 'active') return null
  const owner = await db.users.getById(source.userId)
  if (!owner) return null
  const scheme = signingOf(source)
  return {
    source,
    plan: owner.plan,
    usage: { month: owner.usagePeriodStart, events: owner.usageThisMonth },
    fullMonth: undefined,
    scheme,
    secrets: scheme ? await kept.sourceSecrets(source) : [],
  }
}
