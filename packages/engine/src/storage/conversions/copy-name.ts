/** The name of a copy: the format that it has and when it was made, in UTC. */
export const COPY_NAME = /^backup-format-(\d+)-(\d{8}T\d{6})Z$/
