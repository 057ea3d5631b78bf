/** Permissions that no scenario uses, and what needs them. */
export const rarePermissions: Readonly<Record<string, string>> = {}
