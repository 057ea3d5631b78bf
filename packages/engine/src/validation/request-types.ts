/**
 * The JSON types of a request, which AWS checks before anything else: the first wrong one is a
 * SerializationException.
 *
 * Only requests that are refused anyway are checked here, so that valid ones cost nothing.
 */
import { serializationError } from '../errors.ts'
import {
  ATTRIBUTE_VALUE,
  booleanOf,
  listOf,
  mapOf,
  numberOf,
  type Position,
  stringOf,
  structureOf,
} from '../values/json.ts'
import { checkWireTypes } from '../values/wire.ts'
import type { Shape, StructureShape } from './shapes.ts'

/** In process, attribute values are plain JavaScript, and booleans are never texts. */
export type Face = 'plain' | 'wire'

export function checkTypes(shape: StructureShape, request: unknown, face: Face): void {
  if (typeof request !== 'object' || request === null) throw serializationError('')
  if (Array.isArray(request)) throw serializationError('Start of list found where not expected')
  checkMembers(shape, request as Record<string, unknown>, face)
}

function checkMembers(shape: StructureShape, value: Record<string, unknown>, face: Face): void {
  for (const [name, member] of shape.members) {
    const given = value[name]
    if (given === null || given === undefined) continue
    checkType(member, given, 'member', face)
    if (member.kind === 'boolean' && typeof given === 'string') value[name] = booleanOf(given)
  }
}

function checkType(shape: Shape, value: unknown, position: Position, face: Face): void {
  if (value === null || value === undefined) return
  switch (shape.kind) {
    case 'string':
      stringOf(value)
      return
    case 'integer':
      numberOf(value, shape.javaType)
      return
    case 'boolean':
      if (face === 'plain' && typeof value === 'string') {
        throw serializationError('Unexpected token received from parser')
      }
      booleanOf(value)
      return
    case 'attribute':
      if (face === 'wire') checkWireTypes(value, position)
      return
    case 'attributes':
      checkElements(mapOf(value, ATTRIBUTE_VALUE, position), { kind: 'attribute' }, face)
      return
    case 'list':
      for (const element of listOf(value, position)) checkType(shape.of, element, 'element', face)
      return
    case 'map':
      checkElements(mapOf(value, javaClass(shape.of), position), shape.of, face)
      return
    case 'structure':
      checkMembers(shape, structureOf(value, javaClass(shape), position), face)
  }
}

function checkElements(map: Record<string, unknown>, of: Shape, face: Face): void {
  for (const name of Object.keys(map)) checkType(of, map[name], 'element', face)
}

/** The class of a shape in AWS's service, which its texts name. */
function javaClass(shape: Shape): string {
  switch (shape.kind) {
    case 'string':
      return 'java.lang.String'
    case 'integer':
      return `java.lang.${shape.javaType}`
    case 'boolean':
      return 'java.lang.Boolean'
    case 'attribute':
      return ATTRIBUTE_VALUE
    case 'attributes':
      return `java.util.Map<java.lang.String, ${ATTRIBUTE_VALUE}>`
    case 'list':
      return `java.util.List<${javaClass(shape.of)}>`
    case 'map':
      return `java.util.Map<java.lang.String, ${javaClass(shape.of)}>`
    case 'structure':
      return `com.amazonaws.dynamodb.v20120810.${shape.name}`
  }
}
