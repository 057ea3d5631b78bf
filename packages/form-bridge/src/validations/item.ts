/** The validation of a domain, cached for a day. */
import * as z from 'zod'
import { Details, Domain, EpochSecond, IsoTime, key, RegistrationId } from '../formats.ts'

export const ValidationLevel = z.enum(['basic', 'standard', 'strict'])
export type ValidationLevel = z.infer<typeof ValidationLevel>

export const ValidationItem = z.object({
  PK: key('VALIDATION#'),
  SK: z.literal('RESULT'),
  GSI1PK: key('REG#'),
  GSI1SK: z.literal('VALIDATION'),
  domain: Domain,
  registration_id: RegistrationId,
  validation_level: ValidationLevel,
  passes_validation: z.boolean(),
  validation_score: z.number().min(0).max(100),
  validation_results: Details,
  validated_at: IsoTime,
  valid_until: IsoTime,
  ttl: EpochSecond,
})
export type Validation = z.infer<typeof ValidationItem>

export function validationKey(domain: string) {
  return { PK: `VALIDATION#${domain}`, SK: 'RESULT' } as const
}
