/**
 * What a conformance suite runs on: any DynamoDB that an AWS SDK client can talk to.
 *
 * Suites know nothing about how a target was started. Where a target is known to answer unlike AWS,
 * a suite asks `differs`, and the reason stands in `differences.ts`; there is no other way to excuse
 * a target, so a difference cannot be forgotten in a test.
 */
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { type DifferenceId, differences, type TargetKind } from './differences.ts'

export interface Target {
  readonly name: string
  readonly kind: TargetKind
  readonly client: DynamoDBClient
  /** Where the wire protocol is served, for the targets that have an address. */
  readonly endpoint?: string
  close(): Promise<void>
}

/** Whether the target is known to differ from AWS in this respect. */
export function differs(target: Target, id: DifferenceId): boolean {
  return (differences[id].targets as readonly TargetKind[]).includes(target.kind)
}

/** AWS's answer, or the one a target with a declared difference gives. */
export function expected<T>(target: Target, id: DifferenceId, aws: T, there: T): T {
  return differs(target, id) ? there : aws
}
