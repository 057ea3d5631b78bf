/** Operators in requests and responses. */
import { z } from '@hono/zod-openapi'
import { type Operator, operatorRoles } from '@strongroom/kit/operator-item'
import { serviceNames } from '../services.ts'

export const Role = z.enum(operatorRoles).openapi({
  description: 'Each role includes the ones before it: viewer, editor, admin',
})
export const Services = z
  .array(z.string().refine((name) => serviceNames.includes(name), 'Must be the name of a service'))
  .min(1)
  .max(serviceNames.length)
  .openapi({
    description: 'The services that the operator is limited to; all without it',
    example: ['form-bridge'],
  })

export const OperatorView = z
  .object({
    name: z.string(),
    role: Role,
    services: z.array(z.string()).nullable(),
    createdAt: z.string(),
    rotatedAt: z.string().nullable(),
    expiresAt: z.string().nullable(),
    lastUsedAt: z.string().nullable().openapi({ description: 'To the minute' }),
  })
  .openapi('Operator')
export type OperatorView = z.infer<typeof OperatorView>

export const ListedOperatorView = OperatorView.extend({
  secondFactor: z
    .boolean()
    .openapi({ description: 'Whether signing in to the console requires one' }),
}).openapi('ListedOperator')
export type ListedOperatorView = z.infer<typeof ListedOperatorView>

export function toOperatorView(operator: Operator): OperatorView {
  const { name, role, services: limit, createdAt, rotatedAt, expiresAt, lastUsedAt } = operator
  return {
    name,
    role,
    services: limit ? [...limit] : null,
    createdAt: isoTime(createdAt),
    rotatedAt: isoTimeIfAny(rotatedAt),
    expiresAt: isoTimeIfAny(expiresAt),
    lastUsedAt: isoTimeIfAny(lastUsedAt),
  }
}

function isoTimeIfAny(seconds: number | undefined): string | null {
  return seconds === undefined ? null : isoTime(seconds)
}

function isoTime(seconds: number): string {
  return new Date(seconds * 1000).toISOString()
}
