/** What is being edited of a connection: text as typed, compared with the saved version, kept over reloads. */
import type { Transform } from '@strongroom/ferryhook/transforms/transform'
import type { Filter } from '@strongroom/ferryhook/filters/filter'
import type { Connection } from '../../api/ferryhook.ts'
import { type FilterRow, toFilter, toRows } from './filter-rows.ts'

export type TransformType = Transform['type']

/** One rule of a field map: the kind decides which texts are used. */
export interface MapRow {
  kind: 'copy' | 'constant' | 'rename' | 'remove'
  from: string
  to: string
  value: string
}

export interface HeaderRow {
  name: string
  value: string
}

export interface Draft {
  name: string
  destinationUrl: string
  rows: FilterRow[]
  /** The filter as JSON while it is edited so and is not valid. */
  filterText: string | undefined
  transformType: TransformType
  start: 'empty' | 'body'
  mapRows: MapRow[]
  code: string
  /** Such as `0s, 30s, 2m`; empty for the standard schedule. */
  retry: string
  concurrency: string
  perSecond: string
  /** Undefined: unchanged. Values cannot be read back, so they are replaced together. */
  headers: HeaderRow[] | undefined
}

/** The parts of a connection that can change separately. */
export type Section = 'destination' | 'filter' | 'transform' | 'headers' | 'retry' | 'limits'

export interface ConnectionInput {
  name?: string
  destinationUrl?: string
  filters?: Filter | null
  transform?: Transform | null
  headers?: Record<string, string> | null
  retryConfig?: number[] | null
  limits?: { concurrency?: number; perSecond?: number } | null
}

export const EXAMPLE_CODE = `function transform({ body, headers }) {
  return body
}
`

export function toDraft(connection: Connection): Draft {
  const { transform } = connection
  return {
    name: connection.name,
    destinationUrl: connection.destinationUrl,
    rows: toRows(connection.filters),
    filterText: undefined,
    transformType: transform.type,
    start: transform.type === 'field_map' ? (transform.start ?? 'empty') : 'body',
    mapRows: transform.type === 'field_map' ? transform.rules.map(toMapRow) : [],
    code: transform.type === 'javascript' ? transform.code : EXAMPLE_CODE,
    retry: (connection.retryConfig ?? []).map(formatSeconds).join(', '),
    concurrency: String(connection.limits.concurrency ?? ''),
    perSecond: String(connection.limits.perSecond ?? ''),
    headers: undefined,
  }
}

type MapRule = Extract<Transform, { type: 'field_map' }>['rules'][number]
type Constant = Extract<MapRule, { value: unknown }>['value']

function toMapRow(rule: MapRule): MapRow {
  const none = { from: '', to: '', value: '' }
  if ('remove' in rule) return { ...none, kind: 'remove', from: rule.remove }
  if ('rename' in rule) return { ...none, kind: 'rename', from: rule.rename, to: rule.to }
  if ('from' in rule) return { ...none, kind: 'copy', from: rule.from, to: rule.to }
  return { ...none, kind: 'constant', to: rule.to, value: JSON.stringify(rule.value) }
}

function toMapRule({ kind, from, to, value }: MapRow): MapRule {
  if (kind === 'remove') return { remove: from }
  if (kind === 'rename') return { rename: from, to }
  if (kind === 'copy') return { from, to }
  return { to, value: parsedOr(value) }
}

function parsedOr(text: string): Constant {
  try {
    return JSON.parse(text) as Constant
  } catch {
    return text
  }
}

export function transformOf(draft: Draft): Transform {
  const { transformType: type, start, mapRows, code } = draft
  if (type === 'javascript') return { type, code }
  if (type === 'field_map') return { type, start, rules: mapRows.map(toMapRule) }
  return { type: 'passthrough' }
}

/** What the draft says about each section, or why it cannot be saved. */
function inputOf(draft: Draft): Record<Section, ConnectionInput> {
  const { concurrency, perSecond } = draft
  const headers = draft.headers?.filter(({ name }) => name.trim() !== '')
  return {
    destination: { name: draft.name, destinationUrl: draft.destinationUrl.trim() },
    filter: { filters: toFilter(draft.rows) },
    transform: { transform: transformOf(draft) },
    retry: { retryConfig: draft.retry.trim() === '' ? null : parseDelays(draft.retry) },
    limits: {
      limits: {
        ...(concurrency.trim() !== '' && { concurrency: Number(concurrency) }),
        ...(perSecond.trim() !== '' && { perSecond: Number(perSecond) }),
      },
    },
    headers: headers
      ? { headers: Object.fromEntries(headers.map(({ name, value }) => [name.trim(), value])) }
      : {},
  }
}

export const SECTION_NAMES: Readonly<Record<Section, string>> = {
  destination: 'destination',
  filter: 'filter',
  transform: 'transform',
  headers: 'headers',
  retry: 'retry schedule',
  limits: 'limits',
}

/** The sections that differ from the saved version. */
export function changedSections(draft: Draft, saved: Connection): Section[] {
  const [mine, theirs] = [inputOf(draft), inputOf(toDraft(saved))]
  const sections = Object.keys(mine) as Section[]
  return sections.filter((section) => {
    if (section === 'filter' && draft.filterText !== undefined) return true
    return JSON.stringify(mine[section]) !== JSON.stringify(theirs[section])
  })
}

/** Only what was changed, so that what somebody else changed elsewhere stays. */
export function changesOf(draft: Draft, sections: readonly Section[]): ConnectionInput {
  const input = inputOf(draft)
  return Object.assign({}, ...sections.map((section) => input[section])) as ConnectionInput
}

/** Why a section cannot be saved, found without asking the server. */
export function draftProblem(draft: Draft): { section: Section; message: string } | undefined {
  if (draft.filterText !== undefined) {
    return { section: 'filter', message: 'The JSON of the filter is not valid' }
  }
  if (draft.retry.trim() !== '' && parseDelays(draft.retry).some((delay) => Number.isNaN(delay))) {
    return { section: 'retry', message: 'Write delays as 0s, 30s, 2m, 1h or 1d, with commas' }
  }
  if (draft.transformType === 'field_map' && draft.mapRows.length === 0) {
    return { section: 'transform', message: 'Add a rule to the field map, or choose None' }
  }
  return undefined
}

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 }

/** NaN for what is not a duration. */
function parseDelays(text: string): number[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => {
      const [, number, unit = 's'] = /^(\d+(?:\.\d+)?)\s*([smhd])?$/.exec(part) ?? []
      return number === undefined ? Number.NaN : Number(number) * (UNITS[unit] ?? 1)
    })
}

export function formatSeconds(seconds: number): string {
  for (const [unit, length] of Object.entries(UNITS).toReversed()) {
    if (seconds >= length && seconds % length === 0) return `${seconds / length}${unit}`
  }
  return `${seconds}s`
}

const keyOf = (connectionId: string) => `connection-draft:${connectionId}`

/** Header values may be credentials, so they stay in memory. */
export function keepDraft(connection: Connection, draft: Draft | undefined): void {
  if (!draft) {
    sessionStorage.removeItem(keyOf(connection.id))
    return
  }
  const kept = { rev: connection.rev, draft: { ...draft, headers: undefined } }
  sessionStorage.setItem(keyOf(connection.id), JSON.stringify(kept))
}

/** What was typed before the page was reloaded, and the revision it was typed on. */
export function storedDraft(connectionId: string): { rev: number; draft: Draft } | undefined {
  const text = sessionStorage.getItem(keyOf(connectionId))
  if (text === null) return undefined
  const { rev, draft } = JSON.parse(text) as { rev: number; draft: Draft }
  return { rev, draft: { ...draft, filterText: draft.filterText, headers: undefined } }
}
