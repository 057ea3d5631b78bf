/** StreamSpecification of CreateTable and UpdateTable: a stream is on or off, and its view is fixed. */
import type { StreamSpecification, UpdateTableInput } from '../db.ts'
import { validationError } from '../errors.ts'
import type { LogRecord, NewLog, TableRecord } from '../storage/storage.ts'

const DAY_MS = 24 * 60 * 60 * 1000

/** The stream of a new table. */
export function newStream(wanted: StreamSpecification | null | undefined): NewLog | undefined {
  if (!wanted) return undefined
  if (wanted.StreamEnabled && wanted.StreamViewType) return streamLog(wanted.StreamViewType)
  if (wanted.StreamEnabled) {
    throw invalid('Table is being created with a stream enabled, UpdateViewType is required')
  }
  if (wanted.StreamViewType) {
    throw invalid(
      'Table is being created with a stream disabled, UpdateViewType should not be specified',
    )
  }
  return undefined
}

export function checkStreamUpdate(input: UpdateTableInput): void {
  const wanted = input.StreamSpecification
  if (!wanted) return
  if (wanted.StreamEnabled && !wanted.StreamViewType) {
    throw invalid('If stream is being enabled then UpdateViewType is required')
  }
  if (!wanted.StreamEnabled && wanted.StreamViewType) {
    throw invalid('If stream is being disabled, then UpdateViewType must not be specified')
  }
  if (input.ProvisionedThroughput) {
    throw invalid('You cannot modify stream status while updating table IOPS')
  }
  if (input.GlobalSecondaryIndexUpdates?.some(({ Create, Delete }) => Create ?? Delete)) {
    throw invalid('You cannot create or delete index while changing stream status')
  }
}

/** The logs of a table after an update that may enable or disable its stream. */
export function changedLogs(
  { name, logs = [] }: TableRecord,
  wanted: StreamSpecification | null | undefined,
): (LogRecord | NewLog)[] {
  if (!wanted) return logs
  const others = logs.filter(({ kind }) => kind !== 'stream')
  const isOn = others.length < logs.length
  if (wanted.StreamEnabled && isOn) {
    throw validationError(`Table already has an enabled stream: TableName: ${name}`)
  }
  if (!wanted.StreamEnabled && !isOn) {
    throw validationError(`Table has no stream to disable: TableName: ${name}`)
  }
  return wanted.StreamViewType ? [...others, streamLog(wanted.StreamViewType)] : others
}

function streamLog(view: NewLog['view']): NewLog {
  return { kind: 'stream', view, keepMs: DAY_MS }
}

function invalid(reason: string): Error {
  return validationError(`One or more parameter values were invalid: ${reason}`)
}
