import type { AccessPattern } from '@strongroom/kit/data-model'
import { formBridgeTable as table } from '../table.ts'
import { patternsOfAgencies } from './access-patterns/agencies.ts'
import { patternsOfLimits } from './access-patterns/limits.ts'
import { patternsOfReleases } from './access-patterns/releases.ts'
import { patternsOfSites } from './access-patterns/sites.ts'

const rows = [...patternsOfSites, ...patternsOfLimits, ...patternsOfReleases, ...patternsOfAgencies]

export const accessPatterns: readonly AccessPattern[] = rows.map(
  ([name, servedBy, key, index]) => ({ name, servedBy, table, key, ...(index && { index }) }),
)
