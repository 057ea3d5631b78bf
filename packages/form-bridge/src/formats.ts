/**
 * Formats of values. None of those that are part of keys may contain `#`, which separates the parts
 * of a key. A domain never looks like a site id, because host names have no underscore.
 */
import * as z from 'zod'

/** A host with an optional port, and the path of a site in a subdirectory: `example.com/shop`. */
export const Domain = z
  .string()
  .max(512)
  .regex(
    /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::[1-9][0-9]{0,4})?(?:\/[A-Za-z0-9._~!$&'()*+,;=:@%-]+)*$/,
  )
export const SiteId = z.string().regex(/^site_[A-Za-z0-9_-]{16}$/)
/** With a ULID, so the registrations of a domain are sorted by time. */
export const RegistrationId = z.string().regex(/^reg_[0-9A-HJKMNP-TV-Z]{26}$/)
export const AgencyId = z.string().regex(/^agency_[A-Za-z0-9_-]{16}$/)
export const Slug = z.string().regex(/^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/)
/** As WordPress and plugins write them: `6.8.12`, `1.2.0-beta.1`. */
export const Version = z.string().regex(/^[0-9A-Za-z][0-9A-Za-z.+_-]{0,63}$/)
/** An address, an IPv6 network, or a hash of one. */
export const ClientIp = z.string().regex(/^[0-9A-Za-z.:/_-]{2,64}$/)
export const Sha256 = z.string().regex(/^[0-9a-f]{64}$/)
/** Always UTC with milliseconds, so strings sort by time. */
export const IsoTime = z.iso.datetime({ precision: 3 })
export const IsoDate = z.iso.date()
export const EpochSecond = z.int().min(0)
export const Count = z.int().min(0)
export const Email = z.email().max(254)
/**
 * A secret as the key store encrypts it, in base64: an AWS Encryption SDK message, version 2, suite
 * 0x0478. Plain text does not start with these bytes.
 */
export const SealedSecret = z.string().regex(/^AgR4[A-Za-z0-9+/_-]+={0,2}$/)
/** The specification calls it a Map: any JSON object. */
export const Details = z.record(z.string(), z.json())

/** A key attribute with this prefix. */
export const key = (prefix: string) => z.string().startsWith(prefix)
