/** Registrations. What turns one into a site is in `connections.ts`. */
import type { Page } from '@strongroom/kit/query-page'
import { epochSeconds } from '@strongroom/kit/clock'
import { entity } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import { createUlids } from '@strongroom/kit/ulid'
import { earliestLive, endingAfter, ifLive, isLive, isoNow } from '../expiry.ts'
import {
  PENDING_REGISTRATIONS,
  type PendingRegistration,
  PendingRegistrationItem,
  type ProofMethod,
  type Registration,
  RegistrationItem,
  registrationKey,
} from '../items/registration.ts'
import { lifetimes } from '../lifetimes.ts'
import { formBridgeTable } from '../table.ts'
import { DEFAULT_LIMIT, type PageRequest, type StoreDeps } from './deps.ts'
import { written } from '@strongroom/kit/written'

export type NewRegistration = Pick<
  Registration,
  | 'domain'
  | 'temp_key'
  | 'wp_version'
  | 'plugin_version'
  | 'admin_email'
  | 'agency_id'
  | 'join_token_hash'
  | 'environment'
  | 'client_ip'
>

export type RegistrationName = Pick<Registration, 'domain' | 'registration_id'>

export function createRegistrations({ db, clock }: StoreDeps) {
  const registrations = entity(db, formBridgeTable, RegistrationItem)
  const pending = entity(db, formBridgeTable, PendingRegistrationItem)
  const { attr } = registrations
  const ulids = createUlids()

  return {
    /** Any number may be pending for one domain: who asks first proves nothing. */
    async create(registration: NewRegistration): Promise<Registration> {
      const registration_id = `reg_${ulids(clock.now())}`
      const created_at = isoNow(clock)
      const { ttl, iso: expires_at } = endingAfter(clock, lifetimes.registration)
      const item: Registration = {
        ...registration,
        ...registrationKey({ domain: registration.domain, registration_id }),
        GSI1PK: `TEMP#${registration.temp_key}`,
        GSI1SK: 'STATUS#pending',
        GSI2PK: PENDING_REGISTRATIONS,
        GSI2SK: `${created_at}#${registration_id}`,
        registration_id,
        status: 'pending',
        created_at,
        expires_at,
        ttl,
      }
      await registrations.put(item, expr`attribute_not_exists(${attr('PK')})`)
      return item
    },

    get(name: RegistrationName): Promise<Registration | undefined> {
      return registrations.get(registrationKey(name)).then(ifLive(clock))
    },

    /** Of any status, newest first. */
    ofDomain(
      domain: string,
      { limit = DEFAULT_LIMIT, after }: PageRequest = {},
    ): Promise<Page<Registration>> {
      return registrations.query({
        key: expr`${attr('PK')} = ${`SITE#${domain}`} AND begins_with(${attr('SK')}, ${'REG#'})`,
        filter: expr`${attr('ttl')} > ${epochSeconds(clock)}`,
        newestFirst: true,
        limit,
        after,
      })
    },

    /** By the index, so a moment behind: for diagnosis, not for the exchange. */
    async findByTempKey(temp_key: string): Promise<Registration | undefined> {
      const { items } = await registrations.query({
        index: 'GSI1',
        key: expr`${attr('GSI1PK')} = ${`TEMP#${temp_key}`}`,
      })
      return items.find((item) => isLive(item, clock))
    },

    /** Newest first. */
    listPending({ limit = DEFAULT_LIMIT, after }: PageRequest = {}): Promise<
      Page<PendingRegistration>
    > {
      const earliest = earliestLive(clock, lifetimes.registration)
      return pending.query({
        index: 'GSI2',
        key: expr`${pending.attr('GSI2PK')} = ${PENDING_REGISTRATIONS} AND ${pending.attr('GSI2SK')} >= ${earliest}`,
        newestFirst: true,
        limit,
        after,
      })
    },

    /** Notes that the domain was proved; false if it is not pending any more. */
    prove(name: RegistrationName, method: ProofMethod): Promise<boolean> {
      return written(
        registrations.update(
          registrationKey(name),
          expr`SET ${attr('proved_by')} = ${method}, ${attr('proved_at')} = ${isoNow(clock)}`,
          expr`${attr('status')} = ${'pending'}`,
        ),
      )
    },

    /** Ends one that is pending, as when its owner has begun anew; false if it was not. */
    expire(name: RegistrationName): Promise<boolean> {
      const [status, GSI1SK] = [attr('status'), attr('GSI1SK')]
      return written(
        registrations.update(
          registrationKey(name),
          expr`SET ${status} = ${'expired'}, ${GSI1SK} = ${'STATUS#expired'} REMOVE ${attr('GSI2PK')}, ${attr('GSI2SK')}`,
          expr`${status} = ${'pending'}`,
        ),
      )
    },
  }
}
