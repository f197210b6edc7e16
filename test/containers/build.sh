#!/bin/bash
# Builds the image on a root file system of debootstrap, since no registry of images need be reachable. As root, on Debian, with buildah,
# podman, runc and debootstrap from its packages: npm run image:build
set -euo pipefail
cd "$(dirname "$0")/../.."
cache=.cache/containers
base=localhost/logweir-base:check
node=localhost/logweir-node:check
driver=(--storage-driver "${STORAGE_DRIVER:-vfs}")
mkdir -p "$cache/node"
if ! podman "${driver[@]}" image exists "$base"; then
  [ -d "$cache/root" ] || debootstrap --variant=minbase --include=ca-certificates bookworm "$cache/root"
  tar -C "$cache/root" --exclude=./var/cache/apt --exclude=./var/lib/apt/lists --exclude=./usr/share/doc --exclude=./usr/share/locale \
    --exclude=./usr/share/man -c . | podman "${driver[@]}" import - "$base"
fi
if ! podman "${driver[@]}" image exists "$node"; then
  npm=$(dirname "$(dirname "$(readlink -f "$(command -v npm)")")")
  cp "$(readlink -f "$(command -v node)")" "$cache/node/node"
  rm -rf "$cache/node/npm" && cp -r "$npm" "$cache/node/npm"
  printf 'FROM %s\nCOPY node /usr/bin/node\nCOPY npm /usr/lib/node_modules/npm\nRUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/bin/npm\n' "$base" > "$cache/node/Dockerfile"
  buildah "${driver[@]}" build --isolation=chroot -t "$node" "$cache/node"
fi
# this machine's settings of npm and its authorities, so that packages come from where they come from here
mounts=()
for pair in /etc/npmrc:/usr/etc/npmrc "$HOME/.npmrc:/root/.npmrc" /etc/ssl/certs:/etc/ssl/certs; do
  [ -e "${pair%%:*}" ] && mounts+=(-v "$pair:ro")
done
buildah "${driver[@]}" build --format docker --isolation=chroot --network=host --build-arg "BUILD_IMAGE=$node" --build-arg "BASE_IMAGE=$base" \
  --env "NODE_EXTRA_CA_CERTS=${NODE_EXTRA_CA_CERTS:-}" "${mounts[@]}" -t localhost/logweir:check .
