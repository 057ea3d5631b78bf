/**
 * The parts of an operation: the shape of its request, and a function from request to response.
 *
 * An operation handles requests of both faces. They differ only in the form of attribute values, so an
 * operation reads them through a `Form` and returns plain values; `toResponse` converts them to the JSON
 * of the wire.
 */
import type { Clock } from '@strongroom/platform/clock'
import type { Storage } from '../storage/storage.ts'
import type { StructureShape } from '../validation/shapes.ts'
import type { Form } from './form.ts'

export interface Context {
  readonly storage: Storage
  readonly clock: Clock
  /** Part of every ARN. */
  readonly region: string
}

export interface Operation<Input, Output> {
  readonly name: string
  /** In AWS, streams are a separate service with its own targets. */
  readonly service?: 'streams'
  readonly input: StructureShape
  run(context: Context, input: Input, form: Form): Output | Promise<Output>
  /** Converts the output to JSON; undefined if the output contains no attribute values. */
  readonly toResponse?: (output: Output) => object
  /** The text or bytes of that JSON, for operations where writing it directly is faster. */
  readonly text?: (output: Output) => string | Buffer
}
