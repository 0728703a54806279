// What somebody may have meant by a name that is not there: for messages, and never acted upon.
#ifndef GC_RUNTIME_PROCESS_NEAREST_H
#define GC_RUNTIME_PROCESS_NEAREST_H

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gc::runtime {

/// How many characters must be put in, left out, replaced or swapped with the next one to make one
/// text of the other.
size_t editDistance(std::string_view a, std::string_view b);

/// The candidate with the smallest distance, upper and lower case being the same; empty where none
/// is near: a third of the longer name may differ, and of the shortest names one character.
std::string nearestName(std::string_view name, const std::vector<std::string> &candidates);
/// The path of a file or directory that is there and has nearly that name, in the same directory.
std::string nearestFile(const std::string &path);

/// `; did you mean 'NAME'?`, the end of a message; empty where the name is.
std::string didYouMean(const std::string &name);

} // namespace gc::runtime

#endif // GC_RUNTIME_PROCESS_NEAREST_H
