/** Versions of the plugin: which are published, and how far behind a site is. */
import type { AdoptionDays, ReleaseLine } from '../api/form-bridge.ts'

export interface VersionState {
  isNewest: boolean
  isWithdrawn: boolean
  /** Published versions above it; undefined if it was not published here. */
  behind: number | undefined
}

/** `releases` are sorted, highest first. */
export function versionState(version: string, releases: readonly ReleaseLine[]): VersionState {
  const at = releases.findIndex((release) => release.version === version)
  const isPublished = ({ status }: ReleaseLine) => status === 'published'
  const newest = releases.find(isPublished)
  return {
    isNewest: newest?.version === version,
    isWithdrawn: releases[at]?.status === 'withdrawn',
    behind: at === -1 ? undefined : releases.slice(0, at).filter(isPublished).length,
  }
}

export interface VersionSeries {
  /** Undefined for all older ones together. */
  version: string | undefined
  isNewest: boolean
  isWithdrawn: boolean
  /** Sites on each day. */
  counts: number[]
  /** Sites on the last day. */
  last: number
}

/** Versions with a band of their own; four steps of one hue can be told apart. */
const MAX_BANDS = 3

/**
 * The bands of the chart, bottom first: the newest version, the ones before it, all others as "older",
 * and withdrawn ones that are still in use on top.
 */
export function versionSeries(
  { days }: AdoptionDays,
  releases: readonly ReleaseLine[],
): VersionSeries[] {
  const names = [...new Set(days.flatMap((day) => Object.keys(day.versions)))].toSorted((a, b) =>
    compareVersions(b, a, releases),
  )
  const countsOf = (of: readonly string[]) =>
    days.map((day) => of.reduce((sum, name) => sum + ownNumber(day.versions, name), 0))
  const states = names.map((version) => ({ version, ...versionState(version, releases) }))
  const withdrawn = states.filter(({ isWithdrawn }) => isWithdrawn)
  const offered = states.filter(({ isWithdrawn }) => !isWithdrawn)
  const series = (of: readonly string[], fields: Omit<VersionSeries, 'counts' | 'last'>) => {
    const counts = countsOf(of)
    return { ...fields, counts, last: counts.at(-1) ?? 0 }
  }
  const older = offered.slice(MAX_BANDS).map(({ version }) => version)
  return [
    ...offered
      .slice(0, MAX_BANDS)
      .map(({ version, isNewest, isWithdrawn }) =>
        series([version], { version, isNewest, isWithdrawn }),
      ),
    ...(older.length > 0
      ? [series(older, { version: undefined, isNewest: false, isWithdrawn: false })]
      : []),
    ...withdrawn.map(({ version }) =>
      series([version], { version, isNewest: false, isWithdrawn: true }),
    ),
  ].filter(({ counts }) => counts.some((count) => count > 0))
}

function ownNumber(record: Readonly<Record<string, number>>, name: string): number {
  return Object.hasOwn(record, name) ? (record[name] ?? 0) : 0
}

/** Published versions in their order; others by their numbers, below the published ones. */
function compareVersions(a: string, b: string, releases: readonly ReleaseLine[]): number {
  const place = (version: string) => releases.findIndex((release) => release.version === version)
  const [at, bt] = [place(a), place(b)]
  if (at !== -1 && bt !== -1) return bt - at
  return a.localeCompare(b, 'en', { numeric: true })
}
